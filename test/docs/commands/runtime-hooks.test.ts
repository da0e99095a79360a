import { everyCommandRuns } from '../every-command.ts';

// All start the same sample extension.
everyCommandRuns(['docs/extensions.md', 'docs/runtime-hooks.md', 'docs/conformance.md']);
