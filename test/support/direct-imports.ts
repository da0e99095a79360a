import { registerHooks } from 'node:module';

// Vitest's resolver sends each import of each worker to its main process, which only the watch mode needs: half a second of CPU
// time for each worker.
if (process.env.VITEST_MODE === 'RUN') {
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier.startsWith('.') && context.parentURL !== undefined && !context.parentURL.includes('/node_modules/')
        ? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
        : nextResolve(specifier, context),
  });
}
