import './node-version.ts';

export { defineHookVersions, type HookVersionChange, type HookVersions } from '../hook-versions/index.ts';
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
  type HookChange,
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
