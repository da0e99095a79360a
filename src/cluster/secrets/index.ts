export { type SecretEvent, type SecretPace, type ServingSecret, watchServingSecret } from './secret-watch.ts';
export { decodeSecret, encodeData, metadataOf, secretPath } from './secrets.ts';
