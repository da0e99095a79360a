import { describe, expect, test } from 'vitest';
import { negotiatedType } from '../../../src/sandbox/http/openapi-response.ts';

const json = 'application/json';
const binary = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
const asked = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';

describe('the requested representation', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, json],
    ['', json],
    ['*/*', json],
    ['application/*', json],
    [asked, binary],
    [binary, binary],
    [`text/html, ${asked}, ${json}`, binary],
    [`text/html, ${json}, ${asked}`, json],
    [`*/*, ${asked}`, json],
    [`${json};charset=utf-8`, json],
    ['text/html', undefined],
    ['text/*', undefined],
    ['application/yaml, application/json5', undefined],
  ])('%s: %s', (accept, type) => {
    expect(negotiatedType(accept, 'v3')).toBe(type);
  });
});
