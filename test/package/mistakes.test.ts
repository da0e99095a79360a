import { test } from 'vitest';
import { needs } from '../support/needs.ts';
import { findTypeScript5 } from './from-registry.ts';
import { expectMistakesToBeNamed } from './mistakes.ts';

const typeScript5 = findTypeScript5();

test('mistakes in an extension do not compile, and the errors say what is wrong', () => expectMistakesToBeNamed());

test('TypeScript 5.9 says what is wrong, too', needs('TypeScript 5.9', typeScript5 !== undefined), () =>
  expectMistakesToBeNamed(typeScript5),
);
