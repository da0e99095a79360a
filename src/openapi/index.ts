export { ConversionError, convertV2ToV3, maxMediaTypes } from './convert-v2.ts';
export { type SerializedDocument, serializeDocument } from './serialize.ts';
