export { type Sandbox, type SandboxEvent, type SandboxOptions, startSandbox } from './server.ts';
export type { Endpoint, ResolveService, ServiceReference } from './webhooks/index.ts';
