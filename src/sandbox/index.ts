export { type Sandbox, type SandboxEvent, type SandboxOptions, startSandbox } from './server.ts';
export type { Endpoint, ResolveService, ServiceReference } from './webhook-call.ts';
