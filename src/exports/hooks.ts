import './node-version.ts';

export {
  type CoreVersion,
  clusterApiHooks,
  type HookDefinition,
  hooks,
  hooksGroup,
  type Lifecycle,
  type LifecycleKey,
  type MessageDefinition,
  type MessageSchema,
  parseRelease,
  type Release,
  type ReleaseChange,
  type RequestOf,
  type ResponseOf,
} from '../runtimehooks/index.ts';
export type * from '../runtimehooks/message-types/index.ts';
export {
  type MessageProblem,
  messageProblem,
  sampleRequest,
  sampleResponse,
} from '../runtimehooks/messages/index.ts';
