import './direct-imports.ts';
import './no-empty-table.ts';
import './no-loose-match.ts';
import { expectNothingLeft } from './leaves-nothing.ts';

// Vitest loads this file again for each test file, and what it imports once per process.
expectNothingLeft();
