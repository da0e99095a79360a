'use strict';

// A file of its own, since a Node.js that is too old does not read `import()`.
module.exports = function load(file) {
  import(require('url').pathToFileURL(file).href);
};
