import { readFileSync } from 'node:fs';
import { packageRoot } from '../../base/index.ts';

export const version: string = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')).version;
