import { type DefineCommand, FailureError } from '../../src/cli/framework/program.ts';

/** What the image has instead of `sandbox`. */
export const define: DefineCommand = (command) => {
  command.description('Not in this image: build it with "docker build --target tools".');
  command.allowUnknownOption().allowExcessArguments();
  command.action(() => {
    throw new FailureError('this image has no sandbox: build one that has with "docker build --target tools"');
  });
};
