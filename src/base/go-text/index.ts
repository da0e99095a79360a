export * from './bytes.ts';
export { jsonSyntaxError } from './json-syntax.ts';
