export { type Cache, createCache } from './expiring.ts';
export { Recent } from './recent.ts';
