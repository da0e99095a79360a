/**
 * Source of a module for `node --import` or `--eval`: `loads` collects the URL of each file that is loaded from then
 * on.
 */
export const recordLoads = `import { registerHooks } from 'node:module';
const loads = [];
registerHooks({
  load(url, context, next) {
    loads.push(url);
    return next(url, context);
  },
});`;

/** For `node --import`: a program's last line on stderr lists the packages of all files that it loaded. */
export const tellPackages = `data:text/javascript,${encodeURIComponent(`${recordLoads}
const packageOf = (url) => url.split('/node_modules/').at(1)?.split('/')[0];
process.on('exit', () => console.error(JSON.stringify([...new Set(loads.map(packageOf))])));`)}`;
