export { defineHookVersions, type HookVersionChange, type HookVersions, type MessageChange } from './versions.ts';
