// The building blocks of the examples of rules.
export {
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleServingCertificate,
} from './examples/certificates.ts';
export {
  exampleClass,
  exampleCluster,
  exampleForeignSecret,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from './examples/cluster.ts';
export {
  deprecatedHook,
  exampleLifecycles,
  futureHook,
  removedHook,
} from './examples/hooks.ts';
export { example, exampleHandler, exampleService } from './examples/manifest.ts';
