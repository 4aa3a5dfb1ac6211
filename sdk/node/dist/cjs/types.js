"use strict";
// Parameters and responses, named as in the API reference.
Object.defineProperty(exports, "__esModule", { value: true });
