export { informed, type Plugin, type WholeCluster } from './credential-plugin.ts';
export { type Impersonation, impersonationOf } from './impersonation.ts';
export { orAborted } from './or-aborted.ts';
export { type Credential, PluginError } from './plugin-run.ts';
export { PluginSession } from './plugin-session.ts';
export { type TokenFileUser, tokenFileOf, withTokenFile } from './token-file.ts';
