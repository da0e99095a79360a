import { setFlagsFromString } from 'node:v8';
import { afterAll } from 'vitest';
import './given-keys.ts';
import './no-empty-table.ts';
import './no-loose-match.ts';
import { expectNothingLeft } from './leaves-nothing.ts';

// Vitest loads this file again for each test file, and what it imports once per process.
expectNothingLeft();

// A server keeps the young generation of its process's heap small (src/cli/commands/heap.ts). The next test files run in the
// same process, and would collect garbage far more often; V8 would also reject cached code. This is V8's default.
afterAll(() => setFlagsFromString('--semi-space-growth-factor=2'));
