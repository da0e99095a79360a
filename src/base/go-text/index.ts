export * from './bytes.ts';
export { type JsonMistake, jsonMistake, jsonSyntaxError } from './json-syntax.ts';
