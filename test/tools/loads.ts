/** Source of a module for `node --import` or `--eval`: `loads` has the URL of each file that is loaded from then on. */
export const recordLoads = `import { registerHooks } from 'node:module';
const loads = [];
registerHooks({
  load(url, context, next) {
    loads.push(url);
    return next(url, context);
  },
});`;
