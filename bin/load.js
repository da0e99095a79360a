'use strict';

const { pathToFileURL } = require('node:url');

// A file of its own, since a Node.js that is too old does not read `import()`.
module.exports = function load(file) {
  // Only what is loaded from here on is kept.
  require('./compile-cache.js')(process.env);
  import(pathToFileURL(file).href);
};
