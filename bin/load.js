'use strict';

const { pathToFileURL } = require('node:url');

// A separate file, since an outdated Node.js cannot parse `import()`.
module.exports = function load(file) {
  // Only modules that are loaded after this are cached.
  require('./compile-cache.js')(process.env);
  import(pathToFileURL(file).href);
};
