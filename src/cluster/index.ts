export { KubeConfigError, loadKubeConfig } from './kubeconfig/index.ts';
export {
  type Cluster,
  ConnectionError,
  connect,
  explain,
  Forbidden,
  type ListOptions,
  listPages,
  type Page,
  type Patience,
  ResponseError,
  ResponseTooLong,
  StatusError,
  shortPatience,
  withRemedy,
} from './requests/index.ts';
export {
  decodeSecret,
  encodeData,
  metadataOf,
  type SecretEvent,
  type SecretPace,
  type ServingSecret,
  secretPath,
  watchServingSecret,
} from './secrets/index.ts';
export {
  type Informer,
  type InformerChange,
  type InformerOptions,
  objectKey,
  startInformer,
  type WatchPace,
} from './watches/index.ts';
