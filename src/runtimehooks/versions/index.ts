export { defineHookVersions, type HookVersionChange, type HookVersions } from './versions.ts';
