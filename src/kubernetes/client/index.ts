export { KubeConfigError, loadKubeConfig, readKubeConfig } from './kubeconfig.ts';
export {
  connect,
  explain,
  Forbidden,
  isStatus,
  type KubernetesClient,
  listPages,
  readObject,
  StatusError,
  shortRetries,
} from './requests/kubernetes-client.ts';
export { ConnectionError, ResponseError, ResponseTooLong } from './requests/transport.ts';
export {
  encodeData,
  fetchSecret,
  metadataOf,
  type SecretEvent,
  secretPath,
  watchServingSecret,
} from './secrets.ts';
export { Informer, type InformerChange, type InformerOptions, objectKey, type WatchPace } from './watches/informer.ts';
