import { defineCommand } from '../../src/cli/framework/command.ts';
import { FailureError } from '../../src/cli/framework/program.ts';

/** What the image has instead of `sandbox`. */
export const command = defineCommand({
  description: 'Not in this image: build it with "docker build --target tools".',
  acceptsAnything: true,
  run() {
    throw new FailureError('this image has no sandbox: build one that has with "docker build --target tools"');
  },
});
