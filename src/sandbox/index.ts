export { type Sandbox, type SandboxEvent, type SandboxOptions, startSandbox } from './server.ts';
export type { Endpoint } from './webhooks/webhook-call.ts';
