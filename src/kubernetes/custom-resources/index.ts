export { customResourceCauses } from './causes.ts';
export { decodingProblem, type GoType } from './go-decoding.ts';
export { metadataCauses, type NameFormat } from './metadata-causes.ts';
export { goTypeOf, readCustomResource } from './read.ts';
