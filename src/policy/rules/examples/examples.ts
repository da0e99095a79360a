// The building blocks of the rules' examples, which only the `rules` command and the documentation show.
export {
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleServingCertificate,
} from './certificates.ts';
export {
  exampleClass,
  exampleCluster,
  exampleForeignSecret,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from './cluster.ts';
export { deprecatedHook, exampleLifecycles, futureHook, removedHook } from './hooks.ts';
export { example, exampleHandler, exampleService } from './manifest.ts';
