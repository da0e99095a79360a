export { createPlanCaller, offersUpdates, type StateExtensions } from './calls.ts';
export { classesIn, missingVariables, sampleCluster } from './class-alone.ts';
export { causeText, groupText, problemText, verdictText } from './describe.ts';
export { askAboutWrites } from './dry-runs.ts';
export { Hiding } from './hidden.ts';
export { type LiveWorld, readWorld } from './live.ts';
export { planMarkdown } from './markdown.ts';
export { type PageFacts, planPage } from './page.ts';
export {
  planRecorded,
  type Recording,
  readAnswers,
  readObjects,
  recordedCalls,
  recordedObjects,
  recordingCalls,
} from './recording.ts';
export { planText, type Screen } from './terminal.ts';
export { isHelmTemplate, type Renderer, rendererOf, renderTexts } from './unrendered.ts';
export { withWaits } from './waits.ts';
