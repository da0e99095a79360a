// What the rules' examples are made of: nothing here runs in production but the `rules` command, which prints them.
export {
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleServingCertificate,
} from './certificates.ts';
export { deprecatedHook, exampleLifecycles, futureHook, withdrawnHook } from './hooks.ts';
export { example, exampleHandler, exampleService } from './manifest.ts';
