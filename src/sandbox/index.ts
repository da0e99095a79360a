export { type Sandbox, type SandboxEvent, type SandboxOptions, startSandbox } from './server.ts';
