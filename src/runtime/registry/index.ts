export {
  type ClientConfig,
  defaultTimeoutSeconds,
  type Extension,
  extensionOf,
  parseApiVersion,
  type RegisteredHandler,
} from './registration.ts';
export { createRegistry, type HandlerRegistry } from './registry.ts';
