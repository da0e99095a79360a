export { builtInResources } from './kinds.ts';
export { startNamespaces } from './namespaces.ts';
export { startRegistration } from './registration.ts';
