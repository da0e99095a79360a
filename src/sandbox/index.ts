export type { SandboxEvent } from './http/application.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './server.ts';
