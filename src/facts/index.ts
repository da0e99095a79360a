export { serverAddress } from './address.ts';
export { maxPendingLength } from './clusters.ts';
export type { FactCollection } from './collection.ts';
export * from './facts.ts';
export { createManifestFacts } from './manifest-facts.ts';
export { keyOfObject } from './parts.ts';
export { readSecret } from './secrets.ts';
export { type CollectedKind, collectedKinds, createFactsStore, type FactsStore } from './store.ts';
