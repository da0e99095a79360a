export { type UpgradePlan, upgradePlanProblem } from '../runtimehooks/index.ts';
export { ListenError } from '../server/index.ts';
export type { CallOutcome, HandledCall } from './sdk/calls/call.ts';
export { type ApiClient, type Clusters, createClusters, type ObjectReference } from './sdk/clusters.ts';
export type {
  Answer,
  AnswerFields,
  Answers,
  BlockingAnswers,
  FinalAnswers,
  HookName,
  RequestFor,
  ResponseFor,
} from './sdk/handlers/answer.ts';
export {
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerOptions,
  HandlersError,
  handler,
} from './sdk/handlers/handler.ts';
export { createExtensionRouter, type ExtensionRouter, type ExtensionRouterOptions } from './sdk/http/router.ts';
export type { Job, JobSpec, KubernetesJobsOptions } from './sdk/jobs/jobs.ts';
export { createJobs, type InProcessJobsOptions, type Jobs } from './sdk/jobs/jobs.ts';
export {
  defineInPlaceChanges,
  type InPlaceChanges,
  type KnownFields,
  type UpdatableFields,
} from './sdk/objects/in-place.ts';
export {
  type InPlaceOptions,
  type InPlaceUpdater,
  type MachineUpdate,
  type MachineUpdateState,
  machines,
} from './sdk/objects/machines.ts';
export {
  createExtensionServer,
  type ExtensionCertificates,
  type ExtensionServer,
  type ExtensionServerOptions,
  type RunningExtension,
} from './sdk/server.ts';
export { startProblem } from './sdk/start-problem.ts';
export { compareVersions, planUpgrade } from './sdk/upgrade-plan.ts';
