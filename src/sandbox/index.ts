export type { AdmissionEvent } from './admission.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './server.ts';
export type { ResolveService, ServiceReference } from './webhook-call.ts';
