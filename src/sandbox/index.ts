export { type Sandbox, type SandboxEvent, type SandboxOptions, startSandbox } from './server.ts';
export { DataFileError } from './storage/data-file-error.ts';
export type { Endpoint } from './webhooks/webhook-call.ts';
