import { everyCommandRuns } from '../every-command.ts';

// Both start the same sample extension.
everyCommandRuns(['docs/runtime-hooks.md', 'docs/conformance.md']);
