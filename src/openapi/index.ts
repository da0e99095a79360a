export { ConversionError, convertV2ToV3, maxMediaTypes } from './convert-v2.ts';
export { encodeProtobuf, protobufMediaType } from './protobuf.ts';
export { type SerializedDocument, serializeDocument } from './serialize.ts';
