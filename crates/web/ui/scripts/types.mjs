// Writes the types of the HTTP API from its committed OpenAPI snapshot.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const snapshot = resolve(root, process.env.MAINSTAY_OPENAPI ?? '../../../docs/api/openapi.json');
const target = resolve(root, 'src/lib/api/schema.d.ts');

// An object whose fields are not named may have any, not none.
const options = { emptyObjectsUnknown: true };
const text = astToString(await openapiTS(pathToFileURL(snapshot), options));
// An untouched file keeps its time, so that watchers and build caches stay quiet.
if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text);
