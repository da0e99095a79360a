export * from './custom-resource.ts';
export { decodingProblem, type GoType } from './go-decoding.ts';
export * from './metadata-causes.ts';
