"""Writes a document as DOCX (Office Open XML, ISO/IEC 29500): what it says as markup, and the package of its parts."""
