import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/openapi.md');
