'use strict';

const { registerHooks } = require('node:module');
const { pathToFileURL } = require('node:url');

/**
 * Our sources import each other by the files' own names: there is nothing to search, which takes Node.js a quarter of a
 * start of some hundred files.
 */
function resolveWithoutSearch(sources) {
  registerHooks({
    resolve(specifier, context, next) {
      const isOurs = specifier.startsWith('.') && specifier.endsWith('.ts') && context.parentURL?.startsWith(sources);
      return isOurs
        ? { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
        : next(specifier, context);
    },
  });
}

// A file of its own, since a Node.js that is too old does not read `import()`.
module.exports = function load(file) {
  // Only what is loaded from here on is kept.
  require('./compile-cache.js')(process.env);
  const { href } = pathToFileURL(file);
  if (href.endsWith('.ts')) {
    resolveWithoutSearch(new URL('.', href).href);
  }
  import(href);
};
