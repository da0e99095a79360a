export { labelsOf, parseFieldSelector, parseLabelSelector, type Selector } from './selectors.ts';
export { type Collection, keyOf, Store, type StoreEvent, StoreFullError } from './store.ts';
