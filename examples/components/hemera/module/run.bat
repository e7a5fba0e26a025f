@echo off
powershell -File "%~dp0run.ps1" %*
