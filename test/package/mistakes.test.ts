import { test } from 'vitest';
import { expectMistakesToBeNamed } from '../extension/scaffold/mistakes.ts';
import { needs } from '../support/needs.ts';
import { findTypeScript5 } from './from-registry.ts';

const typeScript5 = findTypeScript5();

test('TypeScript 5.9 says what is wrong, too', needs('TypeScript 5.9', typeScript5 !== undefined), () =>
  expectMistakesToBeNamed(typeScript5),
);
