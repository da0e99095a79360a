export type * from '../hooks/index.ts';
export {
  clusterApiHooks,
  createHookCatalog,
  defineHook,
  hooks,
  hooksGroup,
  parseLifecycles,
  parseRelease,
} from '../hooks/index.ts';
export {
  compareHookDocuments,
  defineHookVersions,
  type HookChange,
  type HookVersionChange,
  type HookVersions,
  type MessageProblem,
  messageProblems,
  type OpenApiDocument,
  openApiDocument,
  openApiPage,
  readHookDocument,
  type Strictness,
  sampleRequest,
  sampleResponse,
} from '../messages/index.ts';
