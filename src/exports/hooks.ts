import './node-version.ts';

export {
  type CoreVersion,
  clusterApiHooks,
  createHookCatalog,
  type Deprecation,
  defineHook,
  type HookCatalog,
  type HookDefinition,
  type HookOptions,
  hooks,
  hooksGroup,
  type Lifecycle,
  type LifecycleKey,
  type MessageDefinition,
  type MessageSchema,
  type Phase,
  parseLifecycles,
  parseRelease,
  type Release,
  type ReleaseChange,
  type RequestOf,
  type ResponseOf,
  type Stability,
} from '../runtimehooks/index.ts';
export type * from '../runtimehooks/message-types/index.ts';
export {
  compareHookDocuments,
  type HookChange,
  type MessageProblem,
  messageProblems,
  type OpenApiDocument,
  openApiDocument,
  readHookDocument,
  type Strictness,
  sampleRequest,
  sampleResponse,
} from '../runtimehooks/messages/index.ts';
export { defineHookVersions, type HookVersionChange, type HookVersions } from '../runtimehooks/versions/index.ts';
