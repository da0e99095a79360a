// The building blocks of the examples of rules.
export {
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleServingCertificate,
} from '../../../src/policy/rules/examples/certificates.ts';
export {
  exampleClass,
  exampleCluster,
  exampleForeignSecret,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from '../../../src/policy/rules/examples/cluster.ts';
export {
  deprecatedHook,
  exampleLifecycles,
  futureHook,
  removedHook,
} from '../../../src/policy/rules/examples/hooks.ts';
export { example, exampleHandler, exampleService } from '../../../src/policy/rules/examples/manifest.ts';
