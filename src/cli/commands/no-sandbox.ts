import { defineCommand } from '../framework/command.ts';
import { FailureError } from '../framework/program.ts';

/** The command that the image has instead of `sandbox`. */
export const command = defineCommand({
  description: 'Not in this image: build it with "docker build --target tools".',
  acceptsAnything: true,
  run() {
    throw new FailureError('this image has no sandbox: build one that has with "docker build --target tools"');
  },
});
